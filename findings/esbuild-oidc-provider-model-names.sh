#!/usr/bin/env bash
# With esbuild's minifySyntax, oidc-provider asks its storage for models without a name, so that it finds no grant.
#
# Versions: oidc-provider 9.13.3, esbuild 0.28.2, Node.js 20.20.2.
# Guess: minifySyntax only writes the same code more shortly; names change with minifyIdentifiers, which was off.
# Seen: oidc-provider passes the names of its classes to the storage, such as "Grant". They are class expressions, whose
# names minifySyntax leaves out as unused, so that each model has the name "". A storage that knows its models by name then
# finds no grant: the server starts and answers without an error, and asks a user for consent again and again. With
# `keepNames`, the names are as in the modules.
# So: bundle oidc-provider with `keepNames`, and let a test run the bundle.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund oidc-provider@9.13.3 esbuild@0.28.2
cat >names.mjs <<'JS'
import Provider from "oidc-provider";

const provider = new Provider("http://127.0.0.1:1", {
  adapter: (name) => ({ find: async () => console.log(JSON.stringify(name)) }),
});
for (const model of [provider.Grant, provider.Session, provider.AccessToken]) await model.find("none");
JS
bundle() {
  npx esbuild names.mjs --bundle --platform=node --format=esm --outfile="$1" --log-level=error "${@:2}" \
    --banner:js='import { createRequire } from "node:module"; const require = createRequire(import.meta.url);'
}
bundle bundled.mjs
bundle minified.mjs --minify-syntax
bundle named.mjs --minify-syntax --keep-names
for file in names.mjs bundled.mjs minified.mjs named.mjs; do
  echo "$file: $(node "$file" 2>/dev/null | grep '^"' | tr '\n' ' ')"
done | tee seen
diff --ignore-trailing-space seen - <<'SEEN'
names.mjs: "Grant" "Session" "AccessToken"
bundled.mjs: "Grant" "Session" "AccessToken"
minified.mjs: "" "" ""
named.mjs: "Grant" "Session" "AccessToken"
SEEN
echo "as recorded"
