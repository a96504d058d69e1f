import type postgres from "postgres";

// Queries return bigints as numbers, because all amounts and counts are below `Number.MAX_SAFE_INTEGER`.
type PostgresTypes = { bigint: number; date: Date };

/** A postgres.js client that converts bigints to numbers, and dates and timestamps to `Date`. */
export type SqlClient = postgres.Sql<PostgresTypes>;
export type SqlTransaction = postgres.TransactionSql<PostgresTypes>;
/** A part of a query, such as a condition, that is inserted into another query. */
export type SqlFragment = postgres.PendingQuery<postgres.Row[]>;
