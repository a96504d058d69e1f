import type { ServiceName } from "@pragma/contracts/service-names";

interface MultiPartitionStatement {
  service: ServiceName;
  /** Matches the text of the statement, in which each run of whitespace is one space. */
  pattern: RegExp;
  reason: string;
}

/**
 * The only statements that may read more than one partition of a table. All other statements name the location, so that
 * their cost does not grow with the number of partitions, and so that the tables can be distributed over servers. Tests
 * compare the plan of every statement that a service sends with this list.
 */
export const multiPartitionStatements: readonly MultiPartitionStatement[] = [
  {
    service: "reporting",
    pattern:
      /^select etag, .*octet_length\("?v\d.* from (reports( left join packed_tills .*)?|orders) where id = \$\d+( and is_current .*order by pushed_at desc limit 1)?$/,
    reason: "Operators, whose keys have locations:any, read a report or an order by its id alone.",
  },
  {
    service: "reporting",
    pattern:
      /^select source\.period_index, .* from metric_|^select count\(\*\) as count from (reports|metric_cells) where location_id = any\(/,
    reason: "Operators, whose keys have locations:any, query metrics of several locations together.",
  },
  {
    service: "reporting",
    pattern:
      /^select location_id, (day::text as day, state from \( select|till_id, report_id, .*figures from e_till_figures where siren)/,
    reason: "All locations of a business are reported together.",
  },
  {
    service: "till-ingest",
    pattern: /^select from tills where next_requeue_at <= now\(\) order by next_requeue_at limit 1$/,
    reason: "Usually no till is overdue, which one statement finds out at less cost than one for each partition.",
  },
  {
    service: "reporting",
    pattern: /^select location_id, till_id from "reports" where v2 is not null and day < current_date - /,
    reason: "Usually no till is to be packed, which one statement finds out at less cost than one for each partition.",
  },
  {
    service: "webhooks",
    pattern: /^select m\.id, m\.body, m\.traceparent from unnest\(.* where m\.created_on = any\(\$\d+::date\[\]\)$/,
    reason: "Retries of one claim can be of several days. Only the partitions of these days are read.",
  },
  {
    service: "webhooks",
    pattern: /^select id, body, created_at from webhook_messages where location_id = \$\d+ and subject = any/,
    reason: "An erasure finds the messages of an order, of which it does not know the days.",
  },
  {
    service: "webhooks",
    pattern:
      /^select queue_id, position = location_position as is_current from .* lateral \( select position from changes /,
    reason: "One batch gives positions in the feed of all locations to changes of several locations.",
  },
  {
    service: "webhooks",
    pattern:
      /^select location_id, .* select sequenced\.location_id, .* from unnest\(.* lateral \( select type, id, .* from changes /,
    reason: "A page of the feed of all locations contains changes of several locations.",
  },
];
