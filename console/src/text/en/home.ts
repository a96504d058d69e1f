import { plural } from "./words.ts";

export const homeTexts = {
  home: {
    title: "Home",
    week: (since: string, until: string) => `Last 7 days: ${since} to ${until}`,
    thisWeek: "These 7 days",
    weekBefore: "The 7 days before",
    thanWeekBefore: "compared with the week before",
    chart: (current: string, before: string) =>
      `Sales by day: ${current} in these seven days, ${before} in the seven days before.`,
    noSales: "There are no sales in these two weeks.",
    recentDays: "Today and the last 14 days",
    closedShifts: "Figures are those of closed shifts. The orders of a shift that is still open are not part of them.",
    allDays: "All days",
    nothingYet: "Nothing yet",
    lastTill: "Last till",
    lastReport: "Last report",
    noTill: "No till has been pushed yet.",
  },
  live: {
    title: "Live orders",
    connections: { connecting: "Connecting", live: "Live", interrupted: "Reconnecting" },
    open: (count: number) => plural(count, { one: "# open order", other: "# open orders" }),
    toPay: "to pay",
    empty: "No order is open. Orders appear here as the point of sale sends them.",
    more: (count: string) => `And ${count} more.`,
    noTable: "No table",
    products: (count: number) => plural(count, { one: "# product", other: "# products" }),
    states: { open: "Open", paid: "Paid", canceled: "Canceled", transferred: "Transferred" },
  },
  tills: {
    id: "Till ID",
    pushed: "Pushed",
    state: "State",
    states: { pending: "Report pending", done: "Report available", parked: "Report failed", training: "Training" },
    parkedReason: "Reason",
    report: "Report",
    openReport: "Open report",
  },
};
