interface Sale {
  openedAt: string;
  total: number;
}

export interface ChartAmountWithName {
  name: string;
  /** The amount in minor units, such as cents. */
  amount: number;
}

/** Returns the total sales per hour of the day in a time zone, from the first hour with sales to the last one. */
export function sumSalesByHour(sales: readonly Sale[], timeZone: string): { hour: number; amount: number }[] {
  const hourFormat = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", hourCycle: "h23", timeZone });
  const amounts = new Map<number, number>();
  for (const { openedAt, total } of sales) {
    const hour = Number(hourFormat.format(new Date(openedAt)));
    amounts.set(hour, (amounts.get(hour) ?? 0) + total);
  }
  const [first, last] = [Math.min(...amounts.keys()), Math.max(...amounts.keys())];
  return Array.from({ length: last - first + 1 }, (_, index) => ({
    hour: first + index,
    amount: amounts.get(first + index) ?? 0,
  }));
}

/** Returns the total amount per name, sorted from the largest to the smallest amount. */
export function sumAmountsByName(entries: readonly ChartAmountWithName[]): ChartAmountWithName[] {
  const amounts = new Map<string, number>();
  for (const { name, amount } of entries) amounts.set(name, (amounts.get(name) ?? 0) + amount);
  return [...amounts].map(([name, amount]) => ({ name, amount })).sort((one, other) => other.amount - one.amount);
}
