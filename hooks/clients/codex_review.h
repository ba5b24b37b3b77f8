// Codex runs a hook once its person has reviewed it.
//
// It trusts an entry by where it stands, as the end of a key, and by a hash of
// what it says (codex-rs/hooks/src/engine/discovery.rs and
// codex-rs/config/src/fingerprint.rs of openai/codex; the same from 0.129 to
// 0.160.1).
#pragma once

#include "hooks/install.h"
#include "hooks/installed.h"
#include "hooks/settings.h"

namespace gate::hooks {

void MarkForCodex(const FoundHook& hook, Installed* installed);
HookReview ReviewByCodex(const InstallOptions& options,
                         const Installed& installed);

}  // namespace gate::hooks
