import { parseArgs } from "node:util";
import { defaultTimeZone, TimeZone } from "@pragma/contracts/date-time";
import { maxOrdersPerTill } from "@pragma/contracts/till-v2";
import { z } from "zod";

const helpText = `Plays a pretend restaurant against the API: tables open and order, the kitchen is called, bills are printed, split
and paid; at the end of each day the till is pushed, and its report takes the orders out of the live ones.

  npm run simulate -- --key <key of a location>
  npm run simulate -- --admin-key <key> --locations 3 --speed 600 --days 2

Where
  --url <address>          where the API answers (PRAGMA_URL; http://localhost:4000)
  --key <key>              plays this key's location; give it several times for several (PRAGMA_KEY)
                           needs the scopes locations:read, orders:read, orders:write, reports:read, tills:read
                           and tills:write
  --admin-key <key>        makes locations with a catalogue, a consumer and keys, and plays those (PRAGMA_ADMIN_KEY);
                           the same seed finds its locations again; the keys are revoked at the end
  --locations <n>          how many of them, 1 to 100 (1)

How fast
  --speed <n>              so many times as fast as real life: 60 is an hour a minute, a day in 16 minutes (60)
  --rate <n>               calls a second at most, for each location; a call brings up to 50 orders (4)

What
  --days <n>               how many days are played, one after the other (1)
  --forever                until Ctrl-C
  --history <n>            first pushes the tills of so many days before, without playing them (0)
  --orders <n>             how many orders a day has (60)
  --from <YYYY-MM-DD>      orders and tills carry the times of this day and those after it. Without it they carry the
                           times at which they are played
  --seed <text>            another seed, another restaurant. With --from too, the same location gets the same orders,
                           to the byte ("simulator")
  --time-zone <name>       of the locations (Europe/Paris)
  --help

A play that was broken off is finished by the next one of the same seed: guests pay what is left, and the till is closed.
While the API does not answer the restaurant waits, and goes on where it was.`;

const count = (min: number, max: number) =>
  z.string().regex(/^\d+$/, { error: "must be a whole number" }).transform(Number).pipe(z.int().min(min).max(max));
const text = z.string().min(1);

const optionDefinitions = z.object({
  url: z
    .url({ protocol: /^https?$/ })
    .transform((url) => url.replace(/\/+$/, ""))
    .prefault("http://localhost:4000"),
  key: z.array(text).default([]),
  "admin-key": text.optional(),
  locations: count(1, 100).prefault("1"),
  speed: z.coerce.number<string>().min(0.1).max(1_000_000).prefault("60"),
  rate: z.coerce.number<string>().min(0.1).max(1_000).prefault("4"),
  days: count(1, 10_000).prefault("1"),
  forever: z.boolean().default(false),
  history: count(0, 1_000).prefault("0"),
  orders: count(1, maxOrdersPerTill).prefault("60"),
  from: z.iso.date({ error: "must be a day, YYYY-MM-DD" }).optional(),
  seed: text.default("simulator"),
  "time-zone": TimeZone.default(defaultTimeZone),
  help: z.boolean().default(false),
});

const optionsSchema = optionDefinitions.refine(
  ({ key, "admin-key": adminKey }) => key.length > 0 !== (adminKey !== undefined),
  {
    error: "Give either --key or --admin-key",
  },
);

/** What to play, where and how fast. */
export type SimulateOptions = z.output<typeof optionDefinitions>;

/**
 * Reads the options of a command line, and what the environment says of those that are not in it.
 *
 * @returns the options, or a text to show: the help that was asked for.
 * @throws an error with everything that is wrong with them, for people.
 */
export function readSimulateOptions(
  args: string[],
  environment: Readonly<Record<string, string | undefined>>,
): SimulateOptions | string {
  const { values } = parseArgs({ args, options: argumentTypes, strict: true });
  if (values.help) return helpText;
  const { PRAGMA_URL, PRAGMA_KEY, PRAGMA_ADMIN_KEY } = environment;
  const isAnyKeyGiven = values.key !== undefined || values["admin-key"] !== undefined;
  const result = optionsSchema.safeParse({
    ...(PRAGMA_URL && { url: PRAGMA_URL }),
    ...(!isAnyKeyGiven && PRAGMA_KEY && { key: [PRAGMA_KEY] }),
    ...(!isAnyKeyGiven && !PRAGMA_KEY && PRAGMA_ADMIN_KEY && { "admin-key": PRAGMA_ADMIN_KEY }),
    ...values,
  });
  if (result.success) return result.data;
  const faults = result.error.issues.map(({ path: [name], message }) =>
    name ? `--${String(name)}: ${message}` : message,
  );
  throw new Error(`${faults.join("\n")}\nnpm run simulate -- --help lists the options.`);
}

const argumentTypes = Object.fromEntries(
  Object.keys(optionDefinitions.shape).map((name) => {
    const isFlag = name === "forever" || name === "help";
    return [name, { type: isFlag ? ("boolean" as const) : ("string" as const), multiple: name === "key" }];
  }),
);
