import { personalDataFields, replaceNestedFieldsByName } from "@pragma/contracts/personal-data";
import { serviceNames } from "@pragma/contracts/service-names";
import { type DestinationStream, type Logger, pino, stdSerializers } from "pino";
import { internalKeysVariableNames } from "../config/internal-keys.ts";
import { buildDatabaseUrlVariableName, buildOwnerDatabaseUrlVariableName } from "../config/service-databases.ts";
import { joinJsonObjectTexts } from "../json/join-json.ts";

export type { Logger } from "pino";

/** The names of the fields that are redacted in logs, because they contain secrets or personal data. */
const redactedFields = new Set([
  ...personalDataFields,
  "authorization",
  "apiKey",
  "password",
  "secret",
  "hmacSecret",
  "token",
  "DATABASE_URL",
  ...serviceNames.flatMap((name) => [buildDatabaseUrlVariableName(name), buildOwnerDatabaseUrlVariableName(name)]),
  "DATABASE_READ_URL",
  "DATABASE_TRANSACTION_URL",
  ...internalKeysVariableNames,
  "DATA_KEYS",
  "PRAGMA_ADMIN_KEY",
  "OPS_TOKEN",
]);

const redactedText = "[redacted]";
const maxRedactionDepth = 3;

/** Creates a logger that redacts secrets and personal data. It writes JSON lines to standard output by default. */
export function createLogger({
  name,
  level,
  destination,
}: {
  name: string;
  level: string;
  destination?: DestinationStream;
}): Logger {
  const options = {
    name,
    level,
    base: { name },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }), log: redactSecrets },
    serializers: {
      err: (error: Error) => redactSecrets(stdSerializers.err(error)),
      // Redacts the fields of child loggers, because pino calls only serializers for them, not `formatters.log`.
      ...Object.fromEntries([...redactedFields].map((name) => [name, () => redactedText])),
    },
  };
  return destination ? pino(options, destination) : pino(options);
}

/** Logs each entry as `log.info(entry, message)` does, without texts of `Error`, in a quarter of the CPU time. */
export function writeLogLines(log: Logger, entries: object[], message: string): void {
  if (entries.length === 0 || !log.isLevelEnabled("info")) return;
  const shared = { level: "info", time: new Date().toISOString(), ...log.bindings() };
  const head = JSON.stringify(shared);
  const tail = JSON.stringify({ msg: message });
  const lines = entries.map((fields) => `${joinJsonObjectTexts(head, JSON.stringify(redactSecrets(fields)), tail)}\n`);
  (log as unknown as Record<symbol, DestinationStream>)[pino.symbols.streamSym]?.write(lines.join(""));
}

/** Returns the same object if there is nothing to redact, because copying would take longer than writing the line. */
function redactSecrets<Fields extends object>(fields: Fields): Fields {
  return replaceNestedFieldsByName(fields, redactedFields, redactedText, maxRedactionDepth) as Fields;
}
