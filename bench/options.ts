import { parseArgs } from "node:util";

export interface Options {
  /** Ids of the rows to measure; all when undefined. */
  only: string[] | undefined;
  /** Fewer and shorter repetitions, and a smaller history: to see that it works, not to judge by. */
  quick: boolean;
  /** Whether the product's processes write CPU profiles. */
  profile: boolean;
}

/** Reads the command line. @throws TypeError when it says something else than is understood. */
export function readOptions(args: string[], ids: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string" },
      quick: { type: "boolean", default: false },
      profile: { type: "boolean", default: false },
    },
  });
  const only = values.only?.split(",").map((id) => id.trim());
  const unknown = only?.filter((id) => !ids.includes(id)) ?? [];
  if (unknown.length > 0) throw new TypeError(`There is no row ${unknown.join(", ")}: the rows are ${ids.join(", ")}.`);
  return { only, quick: values.quick, profile: values.profile };
}
