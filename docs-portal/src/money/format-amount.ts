const euros = new Intl.NumberFormat("en-IE", { style: "currency", currency: "EUR" });

/** Formats an amount in cents as euros. Example: 280903 becomes €2,809.03. */
export function formatEuroAmount(minorUnits: number): string {
  return euros.format(minorUnits / 100);
}
