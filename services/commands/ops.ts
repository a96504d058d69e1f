import { runLocationCommand, runSandboxesCommand } from "./location-commands.ts";
import { createOpsPortClient, OpsCommandLineUsageError, opsCommandUsage, runOpsCommand } from "./operator-commands.ts";

const { OPS_URLS = "http://127.0.0.1:4090", OPS_TOKEN } = process.env;
const [command, ...commandArguments] = process.argv.slice(2);

const log = (line: string) => void process.stderr.write(`${line}\n`);

function reportFailure(message: string): void {
  log(message);
  process.exitCode = 1;
}

try {
  const client = createOpsPortClient(OPS_URLS.split(","), OPS_TOKEN || undefined);
  const context = { environment: process.env, log };
  const commandResult = await (command === "location"
    ? runLocationCommand(commandArguments, context)
    : command === "sandboxes"
      ? runSandboxesCommand(commandArguments, context)
      : runOpsCommand(process.argv.slice(2), client, { log, reportFailure }));
  process.stdout.write(`${JSON.stringify(commandResult, null, 2)}\n`);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(
    error instanceof OpsCommandLineUsageError ? `${message}\n\n${opsCommandUsage}\n` : `${message}\n`,
  );
  process.exitCode = 1;
}
