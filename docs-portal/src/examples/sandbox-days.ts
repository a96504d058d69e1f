const dayMs = 86_400_000;
/** A range of business days, as in a query or in the options `--data-urlencode` of curl. */
const rangePattern = /([?&']since=)(\d{4}-\d{2}-\d{2})((?:&|' --data-urlencode ')until=)(\d{4}-\d{2}-\d{2})(?=[&"']|$)/;

/**
 * Returns the path or command with `since` and `until` moved to days on which a sandbox has data. The last day becomes the last such
 * weekday before the creation of the sandbox, so that whole weeks stay whole weeks. Other texts are unchanged.
 * @param createdAt ISO 8601
 */
export function moveDaysToSandbox(text: string, createdAt: string): string {
  return text.replace(rangePattern, (_, sinceName: string, since: string, untilName: string, until: string) => {
    const lastDay = Date.parse(createdAt.slice(0, 10)) - dayMs;
    const weekMs = 7 * dayMs;
    const shiftMs = Math.floor((lastDay - Date.parse(until)) / weekMs) * weekMs;
    const move = (day: string) => new Date(Date.parse(day) + shiftMs).toISOString().slice(0, 10);
    return `${sinceName}${move(since)}${untilName}${move(until)}`;
  });
}
