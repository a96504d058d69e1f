const euros = new Intl.NumberFormat("en-IE", { style: "currency", currency: "EUR" });

/** An amount in minor units as people read it: 280903 is €2,809.03. */
export function formatAmount(minorUnits: number): string {
  return euros.format(minorUnits / 100);
}
