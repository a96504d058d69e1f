import { type DestinationStream, type Logger, pino, stdSerializers } from "pino";
import { censor, secretFields, withoutSecrets } from "./without-secrets.ts";

export type { Logger } from "pino";

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
    formatters: { level: (label: string) => ({ level: label }), log: withoutSecrets },
    serializers: {
      err: (error: Error) => withoutSecrets(stdSerializers.err(error)),
      // The fields of child loggers pass through serializers only.
      ...Object.fromEntries([...secretFields].map((name) => [name, () => censor])),
    },
  };
  return destination ? pino(options, destination) : pino(options);
}
