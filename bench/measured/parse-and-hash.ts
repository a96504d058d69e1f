/** The baseline of accepting a till: parses and hashes its body in a loop. Prints the tills per second of CPU time. */
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";

const [file = "", seconds = "1"] = process.argv.slice(2);
const body = readFileSync(file);
let iterationCount = 0;

function runFor(milliseconds: number): void {
  for (const until = performance.now() + milliseconds; performance.now() < until; iterationCount += 1) {
    JSON.parse(body.toString("utf8"));
    createHash("sha256").update(body).digest("hex");
  }
}

runFor(500);
iterationCount = 0;
const before = process.cpuUsage();
runFor(Number(seconds) * 1000);
const { user, system } = process.cpuUsage(before);
process.stdout.write(JSON.stringify({ perCpuSecond: iterationCount / ((user + system) / 1e6) }));
