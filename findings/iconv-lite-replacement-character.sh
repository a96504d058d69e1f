#!/usr/bin/env bash
# iconv-lite encodes the replacement character (U+FFFD) as a byte that the character set does not have.
#
# Versions: iconv-lite 0.7.3, Node.js 20.20.2.
# Guess: a character that a set lacks becomes a question mark, as 寿 does, so a text in US-ASCII has only bytes below 80.
# Seen: in sets with unassigned bytes, U+FFFD becomes the last of these: ff in US-ASCII, 9d in windows-1252. Decoding the
# byte returns U+FFFD, so a text seems to survive the round trip with which one tests whether a set has its characters.
# Sets without unassigned bytes, such as ISO-8859-15, get a question mark.
# So: replace U+FFFD before encoding. Names from a point of sale contain it wherever a text was decoded wrongly once, and
# accounting software that demands ASCII refuses the whole file.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund iconv-lite@0.7.3
cat >encode.cjs <<'JS'
const iconv = require("iconv-lite");

for (const charset of ["us-ascii", "windows-1252", "iso-8859-15"]) {
  const [replacement, kanji] = ["\ufffd", "寿"].map((letter) => iconv.encode(letter, charset));
  const isKept = iconv.decode(replacement, charset) === "\ufffd";
  console.log(`${charset}: U+FFFD ${replacement.toString("hex")}${isKept ? " and back" : ""}, 寿 ${kanji.toString("hex")}`);
}
JS
node encode.cjs | tee seen
diff seen - <<'SEEN'
us-ascii: U+FFFD ff and back, 寿 3f
windows-1252: U+FFFD 9d and back, 寿 3f
iso-8859-15: U+FFFD 3f, 寿 3f
SEEN
echo "as recorded"
