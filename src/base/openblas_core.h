#pragma once

namespace ration {

// Tells OpenBLAS, by an environment variable that it reads when it is loaded, for which processor to compute,
// unless somebody has told it already. Versions that are older than the processor (0.3.21 of Debian 12 on an
// Intel model of 2023) otherwise take it for one of 2004 and multiply 3.5 times as slowly. Intel's only:
// others are known by their family. True if it was told now.
bool name_core_for_openblas();

}  // namespace ration
