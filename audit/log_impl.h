// What a Log holds. Internal to audit/.
#pragma once

#include "audit/database.h"
#include "audit/log.h"

namespace gate::audit {

struct Log::Impl {
  Database db;
};

}  // namespace gate::audit
