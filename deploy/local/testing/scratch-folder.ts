import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { onTestFinished } from "vitest";

/** Returns an empty folder that is removed when the test has finished. */
export function createTestScratchFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "pragma-scratch-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
