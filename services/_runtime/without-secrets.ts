import { personalFields } from "@pragma/contracts/personal-data";
import { internalKeysVariables } from "./internal-keys.ts";

/** Names of fields that never reach a log, wherever they turn up: secrets, and what says who ordered. */
export const secretFields = new Set([
  ...personalFields,
  "authorization",
  "apiKey",
  "password",
  "secret",
  "hmacSecret",
  "token",
  "DATABASE_URL",
  ...internalKeysVariables,
  "DATA_KEYS",
  "PRAGMA_ADMIN_KEY",
  "OPS_TOKEN",
]);

export const censor = "[redacted]";
/** How deep fields are looked into. */
const depth = 3;

/**
 * The fields of a log line with every secret among them replaced. What holds none is given back as it is: a line is
 * written for every request, and copying it costs more than writing it.
 */
export function withoutSecrets<Fields extends object>(fields: Fields): Fields {
  return cleaned(fields, depth) as Fields;
}

function cleaned(value: object, levels: number): object {
  let copy: Record<string, unknown> | unknown[] | undefined;
  for (const name of Object.keys(value)) {
    const field = (value as Record<string, unknown>)[name];
    const kept = secretFields.has(name) ? censor : canHide(field) && levels > 1 ? cleaned(field, levels - 1) : field;
    if (kept === field) continue;
    copy ??= Array.isArray(value) ? [...value] : { ...value };
    (copy as Record<string, unknown>)[name] = kept;
  }
  return copy ?? value;
}

/** Errors are written by their own serializer, which cleans what it makes of them. */
function canHide(field: unknown): field is object {
  return typeof field === "object" && field !== null && !(field instanceof Error);
}
