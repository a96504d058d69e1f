import {
  type DayCheck,
  type DayCheckAmountName,
  type DayCheckCode,
  type DayCheckFinding,
  dayCheckDescriptions,
  maxFindingsPerCheck,
} from "@pragma/contracts/day";
import { groupByKey, sum } from "../calculation/groups.ts";
import type { TillFigures } from "./till-figures.ts";

/** A till of a day, with the figures that its checks compare. */
export interface CheckedTill {
  tillId: string;
  figures: TillFigures;
}

type Amounts = Partial<Record<DayCheckAmountName, number>>;

interface TillCheckResult {
  amounts: Amounts;
  findings: Partial<DayCheckFinding>[];
  /** The difference of the compared amounts; null if the check compares none. */
  difference: number | null;
}

/** Checks the figures of one till. Returns null if the till does not have the figures that the check needs. */
type TillCheck = (figures: TillFigures) => TillCheckResult | null;

const compare = (amounts: Amounts, difference: number): TillCheckResult => ({
  amounts,
  difference,
  findings: difference === 0 ? [] : [{ difference }],
});

type OrderFigureName = Exclude<keyof TillFigures["orderFigures"], "hasRefundsWithoutSale">;

/** Returns a check that compares an amount that orders declare with the sum of their product rows. */
const compareOrderFigures =
  (declaredName: OrderFigureName, rowName: OrderFigureName): TillCheck =>
  ({ orderFigures }) => {
    const { [declaredName]: declared, [rowName]: rows } = orderFigures;
    return compare({ declared, rows }, declared - rows);
  };

/** Returns whether a recorded payment pays for an order. Tips, change and discounts do not. */
export function isForOrder([, type]: TillFigures["recordedPayments"][number]): boolean {
  return type === "payment" || type === "customerAccount";
}

/** Returns the tips of a group of recorded payments. Tips that were recorded separately have a type of their own. */
export function getTips([, type, amount, , tips]: TillFigures["recordedPayments"][number]): number {
  if (type === "change" || type === "discount") return 0;
  return type === "tip" ? amount : tips;
}

const sumRecorded = (groups: TillFigures["recordedPayments"]) => sum(groups.map(([, , amount]) => amount));

const tillChecks: Partial<Record<DayCheckCode, TillCheck>> = {
  recorded_payments({ recordedPayments, declaredPayments }) {
    const forOrders = recordedPayments.filter(isForOrder);
    const modes = groupByKey(
      [
        ...forOrders.map(([paymentMode, , recorded]) => ({ paymentMode, recorded, declared: 0 })),
        ...declaredPayments.map(([paymentMode, declared]) => ({ paymentMode, recorded: 0, declared })),
      ],
      ({ paymentMode }) => [paymentMode],
    );
    const amounts = { recorded: sumRecorded(forOrders), declared: sum(declaredPayments.map(([, amount]) => amount)) };
    const findings = modes.flatMap((group) => {
      const difference = sum(group.map(({ recorded }) => recorded)) - sum(group.map(({ declared }) => declared));
      return difference === 0 ? [] : [{ paymentMode: group[0].paymentMode, difference }];
    });
    return { amounts, findings, difference: amounts.recorded - amounts.declared };
  },
  sales({ totalSales, recordedPayments, settlement }) {
    const forOrders = recordedPayments.filter(isForOrder);
    const isAccount = ([mode, type]: (typeof forOrders)[number]) => type === "customerAccount" || mode === "debt";
    const customerAccounts = sumRecorded(forOrders.filter(isAccount));
    const deposits = sumRecorded(forOrders.filter((group) => !isAccount(group) && group[0] === "deposit"));
    const { paid, paidForUnsold, unpaid, owed } = settlement;
    const amounts = {
      sales: totalSales,
      payments: sum([paid, paidForUnsold, -customerAccounts, -deposits]),
      deposits,
      customerAccounts,
      paidForUnsold,
      unpaid,
      owed,
      tips: sum(recordedPayments.map(getTips)),
      change: sum(recordedPayments.map(([, , , change]) => change)),
    };
    return compare(amounts, sum([totalSales, -paid, -unpaid, owed]));
  },
  cash({ cash, recordedPayments, movements, cashChange }) {
    if (!cash) return null;
    const inCash = recordedPayments.filter(([mode]) => mode === "cash");
    const amounts = {
      opening: cash.initial,
      cashPayments: sumRecorded(inCash.filter(isForOrder)),
      cashTips: sum(inCash.map(getTips)),
      cashChange,
      cashMovements: sum(movements.filter(([mode]) => mode === "cash" || mode === null).map(([, amount]) => amount)),
      counted: cash.counted,
    };
    const { opening, cashPayments, cashTips, cashMovements, counted } = amounts;
    return compare(amounts, sum([counted, -opening, -cashPayments, -cashTips, cashChange, -cashMovements]));
  },
  movement_signs({ misdirectedMovements }) {
    const { cashIn: negativeCashIn, cashOut: positiveCashOut } = misdirectedMovements;
    const findings = [
      { movementType: "cash-in" as const, difference: negativeCashIn },
      { movementType: "cash-out" as const, difference: positiveCashOut },
    ];
    return {
      amounts: { negativeCashIn, positiveCashOut },
      findings: findings.filter(({ difference }) => difference !== 0),
      difference: null,
    };
  },
  order_totals: ({ totalSales, productSales }) =>
    compare({ declared: totalSales, rows: productSales }, totalSales - productSales),
  taxes({ taxes }) {
    const declared = sum(taxes.flatMap(([, taxable, tax]) => [taxable, tax]));
    const prices = taxes.map(([, , , price]) => price);
    const rows = sum(prices);
    const findings = taxes.flatMap(([taxRate, taxable, tax, price]) => {
      const difference = sum([taxable, tax, -price]);
      return difference === 0 ? [] : [{ taxRate, difference }];
    });
    return { amounts: { declared, rows }, findings, difference: declared - rows };
  },
  order_taxes: compareOrderFigures("declaredTax", "rowTax"),
  order_net_totals: compareOrderFigures("declaredNet", "rowNet"),
  order_discounts: compareOrderFigures("declaredDiscount", "rowDiscount"),
  cancellations_after_bill: ({ canceledAfterBill }) => ({
    amounts: { canceled: canceledAfterBill },
    findings: canceledAfterBill === 0 ? [] : [{ difference: null }],
    difference: null,
  }),
  refunds_without_sale: ({ orderFigures: { refunded, hasRefundsWithoutSale } }) => ({
    amounts: { refunded },
    findings: hasRefundsWithoutSale ? [{ difference: null }] : [],
    difference: null,
  }),
};

/** Returns the checks of the figures within each till. `otherTillIds` are tills without figures. */
export function checkTillFigures(tills: readonly CheckedTill[], otherTillIds: readonly string[]): DayCheck[] {
  return (Object.entries(tillChecks) as [DayCheckCode, TillCheck][]).map(([code, checkTill]) => {
    const uncheckedTillIds = [...otherTillIds];
    const results: (TillCheckResult & { tillId: string })[] = [];
    for (const { tillId, figures } of tills) {
      const result = checkTill(figures);
      if (result) results.push({ ...result, tillId });
      else uncheckedTillIds.push(tillId);
    }
    const names = Object.keys(results[0]?.amounts ?? {}) as DayCheckAmountName[];
    const differences = results.flatMap(({ difference }) => (difference === null ? [] : [difference]));
    return buildCheck(code, {
      checked: results.length,
      difference: differences.length === 0 ? null : sum(differences),
      amounts: names.map((name) => ({ name, amount: sum(results.map(({ amounts }) => amounts[name] ?? 0)) })),
      findings: results.flatMap(({ tillId, findings }) => findings.map((finding) => ({ tillId, ...finding }))),
      uncheckedTillIds,
    });
  });
}

interface CheckParts extends Pick<DayCheck, "difference" | "amounts" | "uncheckedTillIds"> {
  checked: number;
  findings: Partial<DayCheckFinding>[];
}

const emptyFinding: DayCheckFinding = {
  tillId: null,
  otherTillId: null,
  orderId: null,
  paymentMode: null,
  movementType: null,
  taxRate: null,
  deviceIdentifier: null,
  firstReportNumber: null,
  lastReportNumber: null,
  difference: null,
};

export function buildCheck(code: DayCheckCode, { checked, findings, ...parts }: CheckParts): DayCheck {
  return {
    code,
    status: checked === 0 ? "unavailable" : findings.length === 0 ? "passed" : "failed",
    meaning: dayCheckDescriptions[code],
    difference: parts.difference,
    amounts: parts.amounts,
    findingCount: findings.length,
    findings: findings.slice(0, maxFindingsPerCheck).map((finding) => ({ ...emptyFinding, ...finding })),
    uncheckedTillIds: parts.uncheckedTillIds,
  };
}
