import { type DestinationStream, type Logger, pino } from "pino";

export type { Logger } from "pino";

/** What never reaches a log, wherever it turns up. */
const secretFields = [
  "authorization",
  "apiKey",
  "password",
  "secret",
  "hmacSecret",
  "token",
  "DATABASE_URL",
  "PRINCIPAL_KEYS",
];

/** A process's logger: JSON lines on standard output, secrets removed. */
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
    formatters: { level: (label: string) => ({ level: label }) },
    redact: { paths: secretFields.flatMap((field) => [field, `*.${field}`, `*.*.${field}`]), censor: "[redacted]" },
  };
  return destination ? pino(options, destination) : pino(options);
}
