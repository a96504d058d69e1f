#!/usr/bin/env bash
# React Aria declares the export condition `source` for files that its packages leave out.
#
# Versions: react-aria-components 1.22.1, react 19.3.1, Node.js 20.20.2.
# Guess: a package that declares a condition has the files for it. Monorepos use `source` to run their own TypeScript sources
# (`node --conditions=source`, `customConditions` of TypeScript, `resolve.conditions` of Vite), which other packages ignore.
# Seen: the package names ./exports/index.ts for `source`, and its `files` leave out ./exports. With the condition, the import
# fails; without it, it works. Nothing in the message names the condition.
# So: do not set `source` for a build that contains React Aria. Map the own packages with aliases instead, or give the own
# condition a name that nobody else has.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund react-aria-components@1.22.1 react@19.3.1 react-dom@19.3.1
cat >import.mjs <<'JS'
const { exports } = (await import("react-aria-components/package.json", { with: { type: "json" } })).default;
console.log("declared:", exports["."].source);
await import("react-aria-components").then(
  (library) => console.log("imported:", typeof library.Button),
  ({ code }) => console.log("failed:", code),
);
JS
{
  echo "without the condition"
  node --disable-warning=ExperimentalWarning import.mjs
  echo "with the condition"
  node --disable-warning=ExperimentalWarning --conditions=source import.mjs
} | tee seen
diff seen - <<'SEEN'
without the condition
declared: ./exports/index.ts
imported: object
with the condition
declared: ./exports/index.ts
failed: ERR_MODULE_NOT_FOUND
SEEN
echo "as recorded"
