import { createOpsPortClient, OpsCommandLineUsageError, opsCommandUsage, runOpsCommand } from "./operator-commands.ts";
import { partitionServiceTables } from "./partition-service-tables.ts";

const { OPS_URLS = "http://127.0.0.1:4090", OPS_TOKEN } = process.env;
const [command, ...commandArguments] = process.argv.slice(2);

try {
  const commandResult =
    command === "partition-tables"
      ? await partitionServiceTables(commandArguments, {
          environment: process.env,
          log: (line) => process.stderr.write(`${line}\n`),
        })
      : await runOpsCommand(process.argv.slice(2), createOpsPortClient(OPS_URLS.split(","), OPS_TOKEN || undefined));
  process.stdout.write(`${JSON.stringify(commandResult, null, 2)}\n`);
} catch (error) {
  const message = error instanceof Error ? error.message : String(error);
  process.stderr.write(
    error instanceof OpsCommandLineUsageError ? `${message}\n\n${opsCommandUsage}\n` : `${message}\n`,
  );
  process.exitCode = 1;
}
