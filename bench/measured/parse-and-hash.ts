/** The limit of accepting a till: JSON.parse and SHA-256 of its body, over and over. Prints how many a CPU second holds. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const [file = "", seconds = "1"] = process.argv.slice(2);
const body = readFileSync(file);
let count = 0;

function runFor(milliseconds: number): void {
  for (const until = performance.now() + milliseconds; performance.now() < until; count += 1) {
    JSON.parse(body.toString("utf8"));
    createHash("sha256").update(body).digest("hex");
  }
}

runFor(500);
count = 0;
const before = process.cpuUsage();
runFor(Number(seconds) * 1000);
const { user, system } = process.cpuUsage(before);
process.stdout.write(JSON.stringify({ perCpuSecond: count / ((user + system) / 1e6) }));
