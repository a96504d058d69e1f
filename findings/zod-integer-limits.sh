#!/usr/bin/env bash
# zod reports an integer above its limit twice if it is also above 2^53, first with a limit that the schema does not have.
#
# Version: zod 4.6.7, Node.js 20.20.2.
# Guess: z.int().max(100) reports one issue for every number above 100, with the maximum 100.
# Seen: for 101, one issue. For 1e16, two issues of the code too_big with the same path: the first one has the maximum
# 9007199254740991 (the largest safe integer), and the second one 100. The same for numbers below a minimum. An API that
# shows the first issue, or counts issues, tells its caller a limit that is not the limit.
# So: leave out an issue with the origin "int" if an issue with the same code and path follows.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund zod@4.6.7
cat >probe.mjs <<'JS'
import { z } from "zod";

const schema = z.int().min(1).max(100);
for (const number of [101, 1e16, 0, -1e16]) {
  const issues = schema.safeParse(number).error.issues;
  console.log(number, JSON.stringify(issues.map(({ code, origin, minimum, maximum }) => ({ code, origin, minimum, maximum }))));
}
JS
node probe.mjs | tee seen
diff seen - <<'SEEN'
101 [{"code":"too_big","origin":"number","maximum":100}]
10000000000000000 [{"code":"too_big","origin":"int","maximum":9007199254740991},{"code":"too_big","origin":"number","maximum":100}]
0 [{"code":"too_small","origin":"number","minimum":1}]
-10000000000000000 [{"code":"too_small","origin":"int","minimum":-9007199254740991},{"code":"too_small","origin":"number","minimum":1}]
SEEN
echo "as recorded"
