import { type LocationLimit, locationLimits } from "@pragma/runtime/admission/limits";

const head = ["Held at a time", "In each", "By a location", "By all together", "Further ones", "Variable"];

/** Returns the page of limits with the table of `locationLimits`, which replaces the table that the page has. */
export function updateLimitsTable(page: string): string {
  const rows = Object.values(locationLimits as Record<string, LocationLimit>).flatMap(describeLimit);
  const table = [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.join(" | ")} |\n`);
  const updated = page.replace(new RegExp(`^\\| ${head[0]} \\|.*\\n(?:\\|.*\\n)*`, "m"), () => table.join(""));
  if (!updated.includes(table.join(""))) throw new Error("The page of limits has no table of what is held at a time.");
  return updated;
}

function describeLimit({ docs, process, ...limit }: LocationLimit): string[][] {
  if (!docs) return [];
  const { what, where, sender } = docs;
  const bySender = docs.perSender ?? formatMaximum(limit.perSender);
  return [
    [
      what,
      where ?? (process === "gateway" || process === "service" ? process : `instance of \`${process}\``),
      sender ? `${bySender} per ${sender}` : bySender,
      docs.perProcess ?? formatMaximum(limit.perProcess),
      docs.exceeded ?? describeExceeded(limit),
      (docs.variables ?? []).map((name) => `\`${name}\``).join(", "),
    ],
  ];
}

const formatMaximum = (maximum: LocationLimit["perSender"]) =>
  typeof maximum === "number" ? maximum.toLocaleString("en-US") : "";

function describeExceeded(limit: Omit<LocationLimit, "process" | "docs">): string {
  const { senderError, maxWaitMs, maxWaitingPerSender, maxWaiting, overloadedDetail } = limit;
  const name = senderError?.limit && ` (\`${senderError.limit.name}\`)`;
  const errors = [
    ...(senderError ? [`\`${senderError.code ?? "rate_limited"}\`${name ?? ""}`] : []),
    ...(overloadedDetail && senderError?.code !== "overloaded" ? ["`overloaded`"] : []),
  ].join(" or ");
  if (senderError && maxWaitMs === undefined && maxWaitingPerSender === undefined) return errors;
  const waits = [
    maxWaitMs === undefined ? "wait" : `wait for up to ${maxWaitMs / 1_000} seconds`,
    ...(maxWaitingPerSender === undefined ? [] : [`up to ${formatMaximum(maxWaitingPerSender)} of a location`]),
    ...(maxWaiting === undefined ? [] : [`${formatMaximum(maxWaiting)} of all`]),
  ].join(", ");
  return errors === "" ? waits : `${waits}; otherwise ${errors}`;
}
