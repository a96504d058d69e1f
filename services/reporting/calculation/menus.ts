import type { ReportV2 } from "@pragma/contracts/report-v2";
import { cleanAggregates, groupByKey, raiseQuantityToMinOne, sum } from "./groups.ts";
import { getQuantityUnlessSplitChild, type ReportableSetMenu } from "./reportable-orders.ts";

type Menu = ReportV2["reportMenus"][number];

/** Groups sold menus by catalog id and name, and counts the products chosen in each step. */
export function aggregateSoldMenus(menus: ReportableSetMenu[]): Menu[] {
  const groups = groupByKey(menus, ({ menuRow }) => [menuRow.menuId, menuRow.name]);
  const aggregates = groups.map((group) => {
    const rows = group.flatMap((menu) => menu.rows);
    const steps = groupByKey(rows, ({ menuStepName }) => [menuStepName]).sort(
      ([one], [other]) => (one.menuStepIndex ?? 0) - (other.menuStepIndex ?? 0),
    );
    return {
      name: group[0].menuRow.name,
      coursesDescription: steps.flatMap(([row]) => row.menuStepName ?? []).join(" + "),
      quantity: group.filter(({ menuRow }) => menuRow.parentMenuRowId === null).length,
      totalExcludingTax: sum(rows.map((row) => row.taxableAmount)),
      totalSales: sum(group.map(({ menuRow }) => menuRow.totalRow)),
      steps: steps.map((step) => ({
        stepName: step[0].menuStepName,
        quantity: countUnits(step),
        products: groupByKey(step, ({ name }) => [name]).map((product) => ({
          name: product[0].name,
          quantity: countUnits(product),
        })),
      })),
    };
  });
  return cleanAggregates(aggregates, ({ totalExcludingTax, totalSales }) => [totalExcludingTax, totalSales]);
}

function countUnits(rows: ReportableSetMenu["rows"]): number {
  return raiseQuantityToMinOne(sum(rows.map(getQuantityUnlessSplitChild)));
}
