import { opsProcesses, runCommand, UsageError, usage } from "./operator-commands.ts";

const { OPS_URLS = "http://127.0.0.1:4090", OPS_TOKEN } = process.env;

try {
  const shown = await runCommand(process.argv.slice(2), opsProcesses(OPS_URLS.split(","), OPS_TOKEN || undefined));
  process.stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(error instanceof UsageError ? `${message}\n\n${usage}\n` : `${message}\n`);
  process.exitCode = 1;
}
