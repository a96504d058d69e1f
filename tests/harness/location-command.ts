import { runLocationCommand } from "@pragma/services/commands/location-commands";

/**
 * Runs `npm run ops -- location` in the process of the test, because each process of its own would load the modules
 * again. Returns what the command would print.
 */
export async function runTestLocationCommand(args: string[], environment: Record<string, string | undefined>) {
  return JSON.parse(JSON.stringify(await runLocationCommand(args, { environment, log() {} })));
}
