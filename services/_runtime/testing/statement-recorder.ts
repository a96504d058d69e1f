import { randomUUID } from "node:crypto";
import postgres from "postgres";
import type { Database } from "../database/postgres.ts";
import type { AnyServiceDefinition } from "../service/define-service.ts";
import { multiPartitionStatements } from "./multi-partition-statements.ts";

interface RecordedStatement {
  text: string;
  types: number[];
  /** postgres.js replaces each value by its text when it sends the statement. */
  parameters: unknown[];
}

/** Records the statements that a service sends, to check which partitions they use. */
export interface StatementRecorder {
  /** The service definition to start. Its statements are recorded. */
  definition: AnyServiceDefinition;
  /** Returns the plans of the different statements that can be explained. */
  explainStatements(db: Database): Promise<StatementPlan[]>;
}

export interface StatementPlan {
  text: string;
  /** The partitions that the statement reads or changes, by the name of the partitioned table. */
  partitions: Map<string, Set<string>>;
}

export function createStatementRecorder(definition: AnyServiceDefinition): StatementRecorder {
  const statements = new Map<string, RecordedStatement>();
  return {
    definition: {
      ...definition,
      createResources(resources, config) {
        const { sql, lookups } = resources.db;
        for (const client of [sql, lookups])
          client.options.debug = (_, text, parameters, types) => {
            // A comment would extend to the end of the text once this is one line.
            const line = text.replace(/--.*$/gm, "").replace(/\s+/g, " ").trim();
            const statement = { text: line, types: types as number[], parameters };
            statements.set(statement.text, statement);
          };
        return definition.createResources(resources, config);
      },
    },
    async explainStatements({ sql }) {
      const partitionRows = await sql<{ name: string; parent: string }[]>`
        select inhrelid::regclass::text as name, inhparent::regclass::text as parent from pg_inherits
        join pg_class parent on parent.oid = inhparent
        where relnamespace = current_schema()::regnamespace and relkind = 'p'
          -- Partitioned by day. The relay searches all days, by an index.
          and parent.relname <> 'sent_events'`;
      if (partitionRows.length === 0) return [];
      const parents = new Map(partitionRows.map(({ name, parent }) => [name, parent]));
      const plans: StatementPlan[] = [];
      for (const statement of statements.values()) {
        const relations = await findRelationsOfPlan(sql, statement);
        if (relations) plans.push({ text: statement.text, partitions: groupByParent(relations, parents) });
      }
      return plans;
    },
  };
}

/**
 * @throws `Error` when a statement uses several partitions of a table and is not in the list of such statements.
 */
export async function assertStatementsUseOnePartition(db: Database, recorder: StatementRecorder): Promise<void> {
  const violations = listMultiPartitionPlans(await recorder.explainStatements(db)).filter(
    ({ text }) =>
      !multiPartitionStatements.some(
        ({ service, pattern }) => service === recorder.definition.name && pattern.test(text),
      ),
  );
  if (violations.length === 0) return;
  throw new Error(
    `These statements use several partitions. Name the location in them, or add them to multi-partition-statements.ts:\n${violations.map(({ text }) => text).join("\n")}`,
  );
}

export function listMultiPartitionPlans(plans: StatementPlan[]): StatementPlan[] {
  return plans.filter(({ partitions }) => [...partitions.values()].some((names) => names.size > 1));
}

function groupByParent(relations: string[], parents: Map<string, string>): StatementPlan["partitions"] {
  const partitions = new Map<string, Set<string>>();
  for (const relation of relations) {
    const parent = parents.get(relation);
    if (parent !== undefined) partitions.set(parent, (partitions.get(parent) ?? new Set()).add(relation));
  }
  return partitions;
}

/**
 * Returns the tables in the plan that PostgreSQL makes for the values of a statement. Returns undefined for statements
 * without a plan, such as `begin`.
 */
async function findRelationsOfPlan(
  sql: Database["sql"],
  { text, types, parameters }: RecordedStatement,
): Promise<string[] | undefined> {
  const typeNames = parameters.map((_, index) => (types[index] ? `${types[index]}::oid` : "705::oid"));
  const values = parameters.map((value) =>
    value === null || value === undefined ? "null" : `'${String(value).replaceAll("'", "''")}'`,
  );
  let relations: string[] | undefined;
  // A failed transaction does not remove its prepared statement.
  const name = `explained_${randomUUID().replaceAll("-", "")}`;
  const rollback = new Error("rollback");
  await sql
    .begin(async (tx) => {
      const names = await tx.unsafe<{ name: string }[]>(
        `select format_type(type, null) as name from unnest(array[${typeNames}]::oid[]) with ordinality as t (type, n) order by n`,
      );
      // `unknown` lets PostgreSQL infer the type of a parameter.
      const types = names.length > 0 ? `(${names.map(({ name }) => name).join(", ")})` : "";
      await tx.unsafe(`prepare ${name}${types} as ${text}`).simple();
      const [row] = await tx
        .unsafe(`explain (format json) execute ${name}${values.length > 0 ? `(${values})` : ""}`)
        .simple();
      await tx.unsafe(`deallocate ${name}`).simple();
      relations = listRelations(row?.["QUERY PLAN"] ?? row?.queryPLAN);
      throw rollback;
    })
    .catch((error) => {
      // Statements such as `begin` cannot be prepared. Tests may also have deleted the tables of a statement.
      if (error !== rollback && !(error instanceof postgres.PostgresError)) throw error;
    });
  return relations;
}

function listRelations(plan: unknown): string[] {
  if (Array.isArray(plan)) return plan.flatMap(listRelations);
  if (typeof plan !== "object" || plan === null) return [];
  return Object.entries(plan).flatMap(([key, value]) =>
    key === "Relation Name" ? [String(value)] : listRelations(value),
  );
}
