import { personalDataFields, replaceFields } from "@pragma/contracts/personal-data";
import { type DestinationStream, type Logger, pino, stdSerializers } from "pino";
import { internalKeysVariableNames } from "../config/internal-keys.ts";
import { mergeJsonObjects } from "../json/join-json.ts";

export type { Logger } from "pino";

/** The names of fields that are never logged at any depth: secrets and personal data. */
const redactedFields = new Set([
  ...personalDataFields,
  "authorization",
  "apiKey",
  "password",
  "secret",
  "hmacSecret",
  "token",
  "DATABASE_URL",
  ...internalKeysVariableNames,
  "DATA_KEYS",
  "PRAGMA_ADMIN_KEY",
  "OPS_TOKEN",
]);

const redactedText = "[redacted]";
/** The depth to which fields are searched. */
const maxRedactionDepth = 3;

/** Creates the logger of a process: JSON lines on standard output, without secrets. */
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
      // pino passes the fields of child loggers only through serializers.
      ...Object.fromEntries([...redactedFields].map((name) => [name, () => redactedText])),
    },
  };
  return destination ? pino(options, destination) : pino(options);
}

/**
 * Logs each of `entries` on its own line, as `log.info(fields, message)` would, at a quarter of the cost. That matters
 * for the log of requests.
 */
export function logEntriesInBatch(log: Logger, entries: object[], message: string): void {
  if (entries.length === 0 || !log.isLevelEnabled("info")) return;
  const shared = { level: "info", time: new Date().toISOString(), ...log.bindings() };
  const head = JSON.stringify(shared);
  const tail = JSON.stringify({ msg: message });
  const lines = entries.map((fields) => `${mergeJsonObjects(head, JSON.stringify(redactSecrets(fields)), tail)}\n`);
  (log as unknown as Record<symbol, DestinationStream>)[pino.symbols.streamSym]?.write(lines.join(""));
}

/**
 * Returns the fields of a log line with every secret replaced. Fields without secrets are returned without a copy,
 * which would cost more than writing the line. Errors have their own serializer, which also replaces secrets.
 */
function redactSecrets<Fields extends object>(fields: Fields): Fields {
  return replaceFields(fields, redactedFields, redactedText, maxRedactionDepth) as Fields;
}
