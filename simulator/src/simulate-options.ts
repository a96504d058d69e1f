import { parseArgs } from "node:util";
import { maxOrdersPerTill } from "@pragma/contracts/till-v2";
import { z } from "zod";
import { baseUrlSchema } from "./demo-location.ts";

const helpText = `Simulates restaurants against the API. Tables open and order, the kitchen is called, bills are printed, split and
paid. At the end of each day the till is pushed, and its report removes the orders from the live orders.

  npm run simulate -- --key <API key of a location>
  npm run simulate -- --admin-key <key> --locations 3 --speed 600 --days 2

Environment variables and default values are in parentheses.

Target
  --url <address>          base URL of the API (PRAGMA_URL; http://localhost:4000)
  --key <key>              simulates the location of this API key; repeat the option for several locations (PRAGMA_KEY);
                           needs the scopes locations:read, orders:read, orders:write, reports:read, tills:read
                           and tills:write
  --admin-key <key>        creates locations with a catalog, a consumer and keys, and simulates them (PRAGMA_ADMIN_KEY);
                           a later run with the same seed uses the same locations; the keys are revoked at the end
  --locations <n>          number of created locations, 1 to 100 (1)

Speed
  --speed <n>              speed relative to real time: at 60, an hour takes a minute and a day 16 minutes (60)
  --rate <n>               maximum calls per second and location; a call contains up to 50 orders (4)

Content
  --days <n>               number of consecutive days (1)
  --orders <n>             orders per day (60)
  --seed <text>            seed of the restaurant ("simulator")
  --help                   prints this text

The next run with the same seed finishes an interrupted run: it pays open orders and closes the till.
While the API is unavailable, the simulation waits and then continues.`;

const count = (min: number, max: number) =>
  z.string().regex(/^\d+$/, { error: "must be a whole number" }).transform(Number).pipe(z.int().min(min).max(max));
const text = z.string().min(1);

const optionsSchema = z
  .object({
    url: baseUrlSchema.default("http://localhost:4000"),
    key: z.array(text).default([]),
    "admin-key": text.optional(),
    locations: count(1, 100).prefault("1"),
    speed: z.coerce.number<string>().min(0.1).max(1_000_000).prefault("60"),
    rate: z.coerce.number<string>().min(0.1).max(1_000).prefault("4"),
    days: count(1, 10_000).prefault("1"),
    orders: count(1, maxOrdersPerTill).prefault("60"),
    seed: text.default("simulator"),
    help: z.boolean().default(false),
  })
  .refine(
    ({ key, "admin-key": adminKey }) => key.length > 0 !== (adminKey !== undefined),
    "Set either --key or --admin-key",
  );

export type SimulatorOptions = z.output<typeof optionsSchema>;

/** Returns the options of a command line and of environment variables, or the help text. @throws on invalid options. */
export function parseSimulateCommandOptions(args: string[], environment: Readonly<Record<string, string | undefined>>) {
  const { values } = parseArgs({ args, options: argumentTypes });
  if (values.help) return helpText;
  const { PRAGMA_URL, PRAGMA_KEY, PRAGMA_ADMIN_KEY } = environment;
  const hasKeyOption = values.key !== undefined || values["admin-key"] !== undefined;
  const result = optionsSchema.safeParse({
    ...(PRAGMA_URL && { url: PRAGMA_URL }),
    ...(!hasKeyOption && PRAGMA_KEY && { key: [PRAGMA_KEY] }),
    ...(!hasKeyOption && !PRAGMA_KEY && PRAGMA_ADMIN_KEY && { "admin-key": PRAGMA_ADMIN_KEY }),
    ...values,
  });
  if (result.success) return result.data;
  const issueLines = result.error.issues.map(({ path: [name], message }) =>
    name ? `--${String(name)}: ${message}` : message,
  );
  throw new Error(`${issueLines.join("\n")}\nnpm run simulate -- --help lists the options.`);
}

const argumentTypes = Object.fromEntries(
  Object.keys(optionsSchema.shape).map((name) => [
    name,
    { type: name === "help" ? ("boolean" as const) : ("string" as const), multiple: name === "key" },
  ]),
);
