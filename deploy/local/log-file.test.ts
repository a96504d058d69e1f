import { appendFileSync, existsSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { expect, test, vi } from "vitest";
import { endOfLog, limitLog } from "./log-file.ts";
import { scratchFolder } from "./testing/scratch-folder.ts";

test("a log that grows large while it is written is begun anew, and its last part is kept", async () => {
  const file = join(scratchFolder(), "server.log");
  const stop = limitLog(file, { limit: 1_000, everyMs: 10 });
  try {
    appendFileSync(file, "small\n");
    await new Promise((resolve) => setTimeout(resolve, 50));
    expect(existsSync(`${file}.1`)).toBe(false);
    appendFileSync(file, "x".repeat(1_000));
    await vi.waitFor(() => expect(statSync(file).size).toBe(0));
    expect(readFileSync(`${file}.1`, "utf8")).toBe(`small\n${"x".repeat(1_000)}`);
    appendFileSync(file, "after\n");
    expect(endOfLog(file, 500)).toContain("after");
  } finally {
    stop();
  }
});
