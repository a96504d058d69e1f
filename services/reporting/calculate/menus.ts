import { plus } from "@pragma/contracts/money";
import type { ProductRow } from "@pragma/contracts/order-rows";
import type { ReportV2 } from "@pragma/contracts/report-v2";
import { atLeastOne, type CountedMenu, Groups, listed, unitsOf } from "./counting.ts";

type Menu = ReportV2["reportMenus"][number];

interface MenuGroup {
  name: string | null;
  quantity: number;
  totalExcludingTax: number;
  totalSales: number;
  steps: Groups<StepGroup>;
}

interface StepGroup {
  stepName: string | null;
  index: number;
  quantity: number;
  products: Groups<{ name: string | null; quantity: number }>;
}

/** Menus sold, by catalogue id and name, with what was chosen in each of their steps. */
export function menus(counted: CountedMenu[]): Menu[] {
  const groups = new Groups<MenuGroup>();
  for (const { menuRow, rows } of counted) {
    const group = groups.of([menuRow.menuId, menuRow.name], () => ({
      name: menuRow.name,
      quantity: 0,
      totalExcludingTax: 0,
      totalSales: 0,
      steps: new Groups(),
    }));
    group.quantity += menuRow.parentMenuRowId === null ? 1 : 0;
    group.totalSales = plus(group.totalSales, menuRow.totalRow);
    for (const row of rows) {
      group.totalExcludingTax = plus(group.totalExcludingTax, row.taxableAmount);
      serve(row, group.steps);
    }
  }
  return listed(groups.all(), (group) => [group.totalExcludingTax, group.totalSales]).map(describe);
}

function serve(row: ProductRow, steps: Groups<StepGroup>): void {
  const step = steps.of([row.menuStepName], () => ({
    stepName: row.menuStepName,
    index: row.menuStepIndex ?? 0,
    quantity: 0,
    products: new Groups(),
  }));
  const product = step.products.of([row.name], () => ({ name: row.name, quantity: 0 }));
  step.quantity = plus(step.quantity, unitsOf(row));
  product.quantity = plus(product.quantity, unitsOf(row));
}

function describe({ name, quantity, totalExcludingTax, totalSales, steps }: MenuGroup): Menu {
  const inCourse = steps.all().sort((one, other) => one.index - other.index);
  return {
    name,
    coursesDescription: inCourse.flatMap((step) => step.stepName ?? []).join(" + "),
    quantity,
    totalExcludingTax,
    totalSales,
    steps: inCourse.map((step) => ({
      stepName: step.stepName,
      quantity: atLeastOne(step.quantity),
      products: step.products.all().map((product) => ({ ...product, quantity: atLeastOne(product.quantity) })),
    })),
  };
}
