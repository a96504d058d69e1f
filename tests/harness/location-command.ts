import { runLocationCommand } from "@pragma/services/commands/location-commands";
import { expect } from "vitest";

/**
 * Runs `npm run ops -- location` in the process of the test, because each process of its own would load the modules
 * again. Returns what the command would print.
 */
export async function runTestLocationCommand(args: string[], environment: Record<string, string | undefined>) {
  const result = await runLocationCommand(args, {
    ...{ environment, log() {} },
    reportFailure: (message) => expect.unreachable(message),
  });
  return JSON.parse(JSON.stringify(result));
}
