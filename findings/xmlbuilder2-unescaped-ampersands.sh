#!/usr/bin/env bash
# xmlbuilder2 does not escape an ampersand in a text that is followed by a word and a semicolon.
#
# Versions: xmlbuilder2 4.0.3, fast-xml-builder 1.3.2, Node.js 20.20.2.
# Guess: a builder escapes every & of a text, so that a reader of the file gets the text back.
# Seen: xmlbuilder2 takes "&B;" for a reference that the text already contains. It writes the name of a company such as
# "Bar A&B; Paris" as it is, which is not well-formed XML, because no entity has this name, and changes the text "&#233;"
# into another. fast-xml-builder escapes both.
# So: validate a file with names of such shapes before a library writes it, or use one that always escapes.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund xmlbuilder2@4.0.3 fast-xml-builder@1.3.2
cat >write.mjs <<'JS'
import XmlBuilder from "fast-xml-builder";
import { create } from "xmlbuilder2";

for (const name of ["Bar A & B", "Bar A&B; Paris", "Caf&#233;"]) {
  console.log(create({ name }).end({ headless: true }));
  console.log(new XmlBuilder({}).build({ name }));
}
JS
node write.mjs | tee seen
diff seen - <<'SEEN'
<name>Bar A &amp; B</name>
<name>Bar A &amp; B</name>
<name>Bar A&B; Paris</name>
<name>Bar A&amp;B; Paris</name>
<name>Café</name>
<name>Caf&amp;#233;</name>
SEEN
echo "as recorded"
