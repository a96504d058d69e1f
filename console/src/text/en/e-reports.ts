import { plural } from "./words.ts";

export const eReportTexts = {
  eReports: {
    title: "E-reporting",
    summary: "Sales to private customers and payments for the French tax administration, by period",
    noBusiness:
      "No business has e-reporting settings. Set one up with PUT /v1/e-reporting/declarants/{siren}, as the guide “E-reporting in France” says.",
    otherLocations: (count: number, business: string) =>
      `${plural(count, { one: "# other location states", other: "# other locations state" })} the SIREN of ${business}, and is left out. If it belongs to the business, add it to the settings.`,
    business: "Business",
    kind: "Kind",
    kinds: { transactions: "Sales (10.3)", payments: "Payments (10.4)" },
    period: "Period",
    due: "Due on",
    state: "State",
    states: { open: "Open", ready: "Ready", taken: "Taken", changed: "Changed", empty: "Nothing to report" },
    blocked: "Open days and differences",
    openDays: (count: number) => plural(count, { one: "# day needs attention", other: "# days need attention" }),
    notEnded: "Not ended",
    dayStates: {
      not_ended: "Not ended",
      open: "A shift is open",
      incomplete: "Incomplete",
      without_figures: "A till must be reprocessed",
      without_siren: "A till states no valid SIRET",
    },
    differences: (count: number) => plural(count, { one: "# difference", other: "# differences" }),
    back: "All periods",
    titleOf: (kind: string, period: string) => `${kind}: ${period}`,
    about: "About this report",
    last: "Last file",
    noFile: "None",
    take: "Take the report",
    takeIncomplete: "Take it with incomplete days",
    takeHint:
      "Stores the file for the platform. Nothing is sent. A stored file never changes: if figures change later, take the report again, and the new file replaces the earlier one.",
    taken: (id: string) => `The file ${id} was stored.`,
    changes: "Changed since the last file",
    day: "Day",
    category: "Category",
    categories: {
      TLB1: "Goods (TLB1)",
      TPS1: "Services (TPS1)",
      TNT1: "Not subject to VAT (TNT1)",
      TMA1: "Margin schemes (TMA1)",
    },
    rate: "VAT rate",
    net: "Without VAT",
    vat: "VAT",
    received: "Received",
    orders: "Orders",
    blocks: "Figures",
    noBlocks: "There is nothing to report in this period.",
    checks: "Rules of the administration",
    rule: "Rule",
    result: "Result",
    results: { passed: "Passed", failed: "Failed", not_checked: "Checked by the administration" },
    findings: "Findings",
    excluded: (count: number) =>
      plural(count, {
        one: "# order is left out: it has an invoice to a company",
        other: "# orders are left out: they have invoices to companies",
      }),
    unattributed: (amount: string) =>
      `${amount} was received for orders whose products have no price. It has no VAT rate, so it is not in this report.`,
  },
};
