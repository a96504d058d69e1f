import { Link } from "@tanstack/react-router";
import { useFormats } from "../session/session-context.tsx";
import { text } from "../text/text.ts";

export interface PageMeta {
  currentPageIndex: number;
  pageSize: number;
  totalCount: number;
  totalPage: number;
}

/** Links to the previous and the next page, with the same filters. */
export function Pagination({ meta: { currentPageIndex, pageSize, totalCount, totalPage } }: { meta: PageMeta }) {
  const { number } = useFormats();
  if (totalCount === 0) return null;
  const first = currentPageIndex * pageSize + 1;
  const last = Math.min(totalCount, first + pageSize - 1);
  const searchOf = (page: number) => (search: Record<string, unknown>) => ({ ...search, page: page || undefined });
  return (
    <nav className="pagination" aria-label={text.pages.label}>
      <span>{text.pages.range(number(first), number(last), number(totalCount))}</span>
      {currentPageIndex > 0 && (
        <Link to="." search={searchOf(currentPageIndex - 1) as never} className="button button-secondary">
          {text.pages.previous}
        </Link>
      )}
      {currentPageIndex + 1 < totalPage && (
        <Link to="." search={searchOf(currentPageIndex + 1) as never} className="button button-secondary">
          {text.pages.next}
        </Link>
      )}
    </nav>
  );
}
