#!/usr/bin/env bash
# Intl.DateTimeFormat of Node.js accepts time zones that are no IANA names, and Temporal rejects most of them.
#
# Version: Node.js 20.20.2 (ICU data 2025c), temporal-polyfill 1.0.8.
# Guess: a name that `Intl.DateTimeFormat` accepts as `timeZone` is an IANA name or link, and Temporal accepts it, too.
# Seen: Intl accepts 25 abbreviations of ICU, each of which means one of several zones: IST is India, not Israel or
# Ireland; AST is Alaska, not the Atlantic; BST is Bangladesh, not Britain. Temporal throws on them ("Forbidden ICU
# TimeZone"). Both accept SystemV/EST5EDT, with the summer time of 1986, and US/Pacific-New: IANA has removed both.
# So: checking a time zone with Intl is not enough. Check it with everything that computes with it.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
npm init --yes >/dev/null
npm install --silent --no-audit --no-fund temporal-polyfill@1.0.8
cat >probe.mjs <<'JS'
import { Temporal } from "temporal-polyfill";

const accepts = (compute) => {
  try {
    compute();
    return true;
  } catch {
    return false;
  }
};
const intlAccepts = (timeZone) => accepts(() => new Intl.DateTimeFormat("en", { timeZone }));
const temporalAccepts = (timeZone) => accepts(() => Temporal.PlainDate.from("2026-07-01").toZonedDateTime(timeZone));

const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
const names = letters.flatMap((a) => letters.flatMap((b) => letters.map((c) => a + b + c)));
console.log(names.filter((name) => intlAccepts(name) && !temporalAccepts(name)).join(" "));
for (const name of ["SystemV/EST5EDT", "US/Pacific-New"])
  console.log(`${name}: Intl ${intlAccepts(name)}, Temporal ${temporalAccepts(name)}`);
JS
node probe.mjs | tee seen
diff seen - <<'SEEN'
ACT AET AGT ART AST BET BST CAT CNT CST CTT EAT ECT IET IST JST MIT NET NST PLT PNT PRT PST SST VST
SystemV/EST5EDT: Intl true, Temporal true
US/Pacific-New: Intl true, Temporal true
SEEN
echo "as recorded"
