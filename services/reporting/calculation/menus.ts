import { addMoneyAmounts } from "@pragma/contracts/money";
import type { PosOrderProductRow } from "@pragma/contracts/order-rows";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { AggregateMap, cleanAggregates, raiseQuantityToMinOne } from "./aggregate-map.ts";
import { getQuantityUnlessSplitChild, type ReportableSetMenu } from "./reportable-orders.ts";

type Menu = ReportV2["reportMenus"][number];

interface MenuGroup {
  name: string | null;
  quantity: number;
  totalExcludingTax: number;
  totalSales: number;
  steps: AggregateMap<StepGroup>;
}

interface StepGroup {
  stepName: string | null;
  index: number;
  quantity: number;
  products: AggregateMap<{ name: string | null; quantity: number }>;
}

/** Groups sold menus by catalog id and name, and counts the products chosen in each step. */
export function aggregateSoldMenus(menus: ReportableSetMenu[]): Menu[] {
  const groups = new AggregateMap<MenuGroup>();
  for (const { menuRow, rows } of menus) {
    const group = groups.getOrCreate([menuRow.menuId, menuRow.name], () => ({
      name: menuRow.name,
      quantity: 0,
      totalExcludingTax: 0,
      totalSales: 0,
      steps: new AggregateMap(),
    }));
    group.quantity += menuRow.parentMenuRowId === null ? 1 : 0;
    group.totalSales = addMoneyAmounts(group.totalSales, menuRow.totalRow);
    for (const row of rows) {
      group.totalExcludingTax = addMoneyAmounts(group.totalExcludingTax, row.taxableAmount);
      addToStep(row, group.steps);
    }
  }
  return cleanAggregates(groups.values(), (group) => [group.totalExcludingTax, group.totalSales]).map(toReportMenu);
}

function addToStep(row: PosOrderProductRow, steps: AggregateMap<StepGroup>): void {
  const step = steps.getOrCreate([row.menuStepName], () => ({
    stepName: row.menuStepName,
    index: row.menuStepIndex ?? 0,
    quantity: 0,
    products: new AggregateMap(),
  }));
  const product = step.products.getOrCreate([row.name], () => ({ name: row.name, quantity: 0 }));
  step.quantity = addMoneyAmounts(step.quantity, getQuantityUnlessSplitChild(row));
  product.quantity = addMoneyAmounts(product.quantity, getQuantityUnlessSplitChild(row));
}

function toReportMenu({ name, quantity, totalExcludingTax, totalSales, steps }: MenuGroup): Menu {
  const orderedSteps = steps.values().sort((one, other) => one.index - other.index);
  return {
    name,
    coursesDescription: orderedSteps.flatMap((step) => step.stepName ?? []).join(" + "),
    quantity,
    totalExcludingTax,
    totalSales,
    steps: orderedSteps.map((step) => ({
      stepName: step.stepName,
      quantity: raiseQuantityToMinOne(step.quantity),
      products: step.products
        .values()
        .map((product) => ({ ...product, quantity: raiseQuantityToMinOne(product.quantity) })),
    })),
  };
}
