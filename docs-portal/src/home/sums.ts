interface Sale {
  openedAt: string;
  total: number;
}

export interface Share {
  name: string;
  /** In minor units. */
  amount: number;
}

/** Sales by the hour in which they began, in a time zone, from the first hour with a sale to the last. */
export function salesByHour(sales: readonly Sale[], timeZone: string): { hour: number; amount: number }[] {
  const hourIn = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", hourCycle: "h23", timeZone });
  const amounts = new Map<number, number>();
  for (const { openedAt, total } of sales) {
    const hour = Number(hourIn.format(new Date(openedAt)));
    amounts.set(hour, (amounts.get(hour) ?? 0) + total);
  }
  const [first, last] = [Math.min(...amounts.keys()), Math.max(...amounts.keys())];
  return Array.from({ length: last - first + 1 }, (_, index) => ({
    hour: first + index,
    amount: amounts.get(first + index) ?? 0,
  }));
}

/** Amounts summed by name, the largest first. */
export function sumsByName(shares: readonly Share[]): Share[] {
  const amounts = new Map<string, number>();
  for (const { name, amount } of shares) amounts.set(name, (amounts.get(name) ?? 0) + amount);
  return [...amounts].map(([name, amount]) => ({ name, amount })).sort((one, other) => other.amount - one.amount);
}
