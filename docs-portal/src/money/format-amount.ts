const euros = new Intl.NumberFormat("en-IE", { style: "currency", currency: "EUR" });

/** Returns an amount in minor units, formatted for readers: 280903 is €2,809.03. */
export function formatAmount(minorUnits: number): string {
  return euros.format(minorUnits / 100);
}
