import type { PosOrderData } from "@pragma/contracts/order-data";
import { sum } from "../calculation/groups.ts";

/** What decides about the category of a sale, besides its VAT rate. Every row of an order has the same. */
export interface SaleKind {
  serviceType: PosOrderData["serviceType"];
  roomType: PosOrderData["roomType"];
}

/** Sales at a VAT rate, in hundredths of a percent. Amounts are in minor units. */
export interface RateSales extends SaleKind {
  taxRate: number;
  taxable: number;
  tax: number;
}

/** What was received for sales at a VAT rate, VAT included. */
export interface RateReceipts extends SaleKind {
  taxRate: number;
  amount: number;
}

/**
 * What orders sold and what was paid for them, from which e-reports are added up. It does not depend on the settings of the
 * declarant, so that a change of the settings needs no new calculation.
 */
export interface EReportFigures {
  sales: RateSales[];
  /** The number of orders by the VAT rates that they contain, because an order counts once in each of its categories. */
  orders: (SaleKind & { taxRates: number[]; count: number })[];
  receipts: RateReceipts[];
  others: OtherReceipts;
}

/** What was received besides `receipts`, or is still owed. */
export type OtherReceipts = Record<(typeof otherReceiptNames)[number], number>;

const otherReceiptNames = [
  ...(["onAccount", "tips", "beyondTotal", "unsoldOrders"] as const),
  ...(["withoutVatRate", "deposits", "accountSettlements"] as const),
] as const;

export const noOtherReceipts: OtherReceipts = {
  ...{ onAccount: 0, tips: 0, beyondTotal: 0, unsoldOrders: 0, withoutVatRate: 0, deposits: 0, accountSettlements: 0 },
};

export const mapOthers = (compute: (name: keyof OtherReceipts) => number): OtherReceipts =>
  Object.fromEntries(otherReceiptNames.map((name) => [name, compute(name)])) as OtherReceipts;

export const addUpOthers = (others: readonly OtherReceipts[]): OtherReceipts =>
  mapOthers((name) => sum(others.map((each) => each[name])));
