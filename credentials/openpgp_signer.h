// gpg outside, which has the person's key.
#pragma once

#include "base/result.h"
#include "credentials/openpgp_request.h"
#include "credentials/signing_agent.h"

namespace gate::credentials {

// The signature of `request`, whose payload and key were checked, by `gpg -bsau
// KEY` as git starts it. It is ended when `leash` is readable. kUnavailable
// with what gpg said when it does not sign, is not there or takes longer than
// kAgentPatienceMs; kInvalid when what it writes is no signature.
Result<OpenPgpAnswer> SignByGpg(const SigningSetup& setup,
                                const OpenPgpRequest& request, int leash);

}  // namespace gate::credentials
