import type { OrderV2 } from "@pragma/contracts/order-data";
import type { OrderV1 } from "@pragma/contracts/order-v1";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import type { TestLocation } from "../harness/test-location.ts";

/** The reports and orders of a location, from which the figures that its owner asks for are computed. */
export interface DemoFigures {
  /** The reports by business day. Each day has one. */
  reports: Map<string, ReportV2>;
  orders: OrderV1[];
}

export async function readDemoFigures(location: TestLocation, days: string[]): Promise<DemoFigures> {
  const reports = new Map<string, ReportV2>();
  for (const day of days) {
    const { data } = await location.getJson<{ data: { id: string }[] }>(`/v2/reports/?since=${day}&until=${day}`);
    const [item, ...others] = data;
    if (!item || others.length > 0) throw new Error(`${day} does not have exactly one report.`);
    reports.set(day, await location.getJson<ReportV2>(`/v2/reports/${item.id}`));
  }
  const orders: OrderV1[] = [];
  for await (const order of location.api.items("/v1/orders", { params: { query: { size: 100 } } })) orders.push(order);
  return { reports, orders };
}

export const readOrder = (location: TestLocation, id: string) => location.getJson<OrderV2>(`/v2/orders/${id}`);

/** Returns an amount in euros, as answers show it. */
export const euros = (cents: number) => (cents / 100).toFixed(2);

/** Returns the sum of a figure of items. */
export function sumBy<Item>(items: Iterable<Item>, figureOf: (item: Item) => number): number {
  let sum = 0;
  for (const item of items) sum += figureOf(item);
  return sum;
}

/** Returns the sums of a figure by key, highest first. */
export function rankBy<Item>(
  items: Iterable<Item>,
  keyOf: (item: Item) => string,
  figureOf: (item: Item) => number,
): [key: string, sum: number][] {
  const sums = new Map<string, number>();
  for (const item of items) sums.set(keyOf(item), (sums.get(keyOf(item)) ?? 0) + figureOf(item));
  return [...sums].sort(([, one], [, other]) => other - one);
}
