import { addMoneyAmounts } from "@pragma/contracts/money";

export type DimensionValue = string | number | boolean | null;

/** Columns of `metric_cells`, by name. Those of a family have one element for each cell. */
export type CellColumns = Record<string, DimensionValue[]>;

/** The sums of rows with the same values of the dimensions of a family. */
interface Cell<Measure extends string> {
  number: number;
  values: readonly DimensionValue[];
  sums: Record<Measure, number>;
}

/** How many cells a family can have, and how many characters their texts can have together. */
export interface CellLimits {
  cells: number;
  textLength: number;
}

interface CellFamilyOptions<Dimension extends string, Measure extends string> {
  /** What the names of its columns begin with. */
  name: string;
  dimensions: readonly Dimension[];
  measures: readonly Measure[];
  limits: CellLimits;
}

/** Cells with the same dimensions and measures. */
export class CellFamily<Dimension extends string, Measure extends string> {
  readonly #options: CellFamilyOptions<Dimension, Measure>;
  readonly #cells: Cell<Measure>[] = [];
  readonly #cellsByKey = new Map<string, Cell<Measure>>();
  readonly #emptySums: Record<Measure, number>;
  #textLength = 0;

  constructor(options: CellFamilyOptions<Dimension, Measure>) {
    this.#options = options;
    this.#emptySums = Object.fromEntries(options.measures.map((measure) => [measure, 0])) as Record<Measure, number>;
  }

  get size(): number {
    return this.#cells.length;
  }

  /**
   * Returns the cell of these values; once the family has reached a limit, the cell of other values instead of a new one, so
   * that a till with a different text in each row cannot become large. `getOtherValues` must return few different values.
   */
  getOrCreate(
    values: readonly DimensionValue[],
    getOtherValues: () => readonly DimensionValue[] = () => values,
  ): Cell<Measure> {
    const key = toKey(values);
    const existing = this.#cellsByKey.get(key);
    if (existing) return existing;
    const { cells, textLength } = this.#options.limits;
    const length = values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0);
    if (this.#cells.length >= cells || this.#textLength + length > textLength) {
      const otherValues = getOtherValues();
      const otherKey = toKey(otherValues);
      return this.#cellsByKey.get(otherKey) ?? this.#create(otherKey, otherValues);
    }
    this.#textLength += length;
    return this.#create(key, values);
  }

  #create(key: string, values: readonly DimensionValue[]): Cell<Measure> {
    const cell = { number: this.#cells.length + 1, values, sums: { ...this.#emptySums } };
    this.#cells.push(cell);
    this.#cellsByKey.set(key, cell);
    return cell;
  }

  /** Returns the sums of all cells. @throws `AmountOutOfRangeError` when a sum is too large. */
  computeTotals(): Record<Measure, number> {
    const totals = { ...this.#emptySums };
    for (const cell of this.#cells)
      for (const measure of this.#options.measures)
        totals[measure] = addMoneyAmounts(totals[measure], cell.sums[measure]);
    return totals;
  }

  toColumns(): CellColumns {
    const { name, dimensions, measures } = this.#options;
    return Object.fromEntries([
      ...dimensions.map((dimension, index) => [
        `${name}_${dimension}`,
        this.#cells.map(({ values }) => values[index] ?? null),
      ]),
      ...measures.map((measure) => [`${name}_${measure}`, this.#cells.map(({ sums }) => sums[measure])]),
    ]);
  }

  /**
   * Adds the cells in columns to those of this family. `mapValue` returns another value of a dimension.
   *
   * @returns the numbers of the cells to which they were added, in their sequence.
   * @throws `AmountOutOfRangeError` when a sum is too large.
   */
  addColumns(
    columns: CellColumns,
    mapValue: (value: DimensionValue, dimension: Dimension) => DimensionValue = (value) => value,
  ): number[] {
    const { name, dimensions, measures } = this.#options;
    const dimensionColumns = dimensions.map((dimension) => columns[`${name}_${dimension}`] ?? []);
    const measureColumns = measures.map((measure) => ({ measure, amounts: columns[`${name}_${measure}`] ?? [] }));
    return (dimensionColumns[0] ?? []).map((_, row) => {
      const values = dimensions.map((dimension, index) => mapValue(dimensionColumns[index]?.[row] ?? null, dimension));
      const cell = this.getOrCreate(values);
      for (const { measure, amounts } of measureColumns) addToCell(cell, measure, Number(amounts[row]));
      return cell.number;
    });
  }
}

/** Adds an amount to a sum of a cell. @throws `AmountOutOfRangeError` when the sum is too large. */
export function addToCell<Measure extends string>(
  { sums }: Pick<Cell<Measure>, "sums">,
  measure: Measure,
  amount: number,
): void {
  sums[measure] = addMoneyAmounts(sums[measure], amount);
}

/** Returns a text that differs for different values. Takes a third of the time of `JSON.stringify`. */
export function toKey(values: readonly DimensionValue[]): string {
  let key = "";
  for (const value of values) key += typeof value === "string" ? `${value.length}:${value}` : `${value},`;
  return key;
}
