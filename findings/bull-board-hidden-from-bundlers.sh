#!/usr/bin/env bash
# Bull Board finds the files of its pages by a path that no bundler sees, and starts only beside its packages.
#
# Versions: @bull-board/api 9.10.1, esbuild 0.28.2, Node.js 20.20.2.
# Guess: a bundler either includes a package that another one requires, or warns that it cannot follow the path.
# Seen: esbuild bundles a board without a warning. The board looks for the package @bull-board/ui in a text that is
# evaluated. Beside the packages, the bundle works; a copy of it, as in an image, throws when the board is created.
# So: copy @bull-board/ui beside the bundle, and start a copy of the bundle in a test. A board that loads only under some
# setting, such as a password, hides the fault until that setting is used.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mkdir "$folder/project" "$folder/image"
cd "$folder/project"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund @bull-board/api@9.10.1 esbuild@0.28.2
cat >board.mjs <<'JS'
import { createBullBoard } from "@bull-board/api";

const calls = [];
const serverAdapter = new Proxy({}, { get: (_, name) => () => (calls.push(name), serverAdapter) });
try {
  createBullBoard({ queues: [], serverAdapter });
  console.log(calls.includes("setStaticPath") ? "a board with pages" : "a board without pages");
} catch (error) {
  console.log(error.code, /'(.*?)'/.exec(error.message)?.[1]);
}
JS
npx esbuild board.mjs --bundle --platform=node --outfile=bundle.cjs --log-level=warning 2>&1 | sed 's/^/warning: /' | tee ../seen
cp bundle.cjs ../image/
echo "beside the packages: $(node bundle.cjs)" | tee -a ../seen
echo "copied: $(node ../image/bundle.cjs)" | tee -a ../seen
diff ../seen - <<'SEEN'
beside the packages: a board with pages
copied: MODULE_NOT_FOUND @bull-board/ui/package.json
SEEN
echo "as recorded"
