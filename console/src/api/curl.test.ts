import { execFileSync } from "node:child_process";
import { expect, it } from "vitest";
import { formatCurl } from "./curl.ts";

it("is a command that a shell reads as one URL, and that contains no key", () => {
  const url = `https://api.example/v1/metrics?filters={"room":["L'atelier $HOME"]}&since=2026-06-01`;
  const command = formatCurl(url).replace(/^curl/, "printf '%s\\n'");
  const [option, header, shown] = execFileSync("sh", ["-c", command], {
    encoding: "utf8",
    env: { PRAGMA_API_KEY: "pragma_of_the_reader" },
  }).split("\n");
  expect(formatCurl(url)).not.toContain("pragma_of_the_reader");
  expect([option, header, shown]).toEqual(["-H", "Authorization: Bearer pragma_of_the_reader", url]);
});
