#!/usr/bin/env bash
# Usage: PRAGMA_API_KEY=… bash orders.sh 2026-05-01 2026-05-31 orders.csv
# Requires jq, and curl 7.71 or later.
url="${PRAGMA_URL:-http://127.0.0.1:4000}/v1/orders"
: "${PRAGMA_API_KEY:?Set this variable to your API key.}"
if [[ $# -ne 3 ]]; then
  echo 'Pass three arguments: bash orders.sh 2026-05-01 2026-05-31 orders.csv' >&2
  exit 1
fi
file=$3
query=(--data-urlencode "since=$1" --data-urlencode "until=$2" --data size=100)

page=$(mktemp)
trap 'rm -f "$page"' EXIT
echo 'id,openedAt,total,isCanceled,isTransferred,payments' > "$file.new" || exit 1
page_token=()
while true; do
  # curl retries after lost connections and transient errors, for up to 60 seconds.
  status=$(curl --silent --show-error --get "$url" "${query[@]}" "${page_token[@]}" \
    -H "authorization: Bearer $PRAGMA_API_KEY" \
    --max-time 60 --retry 5 --retry-all-errors --retry-max-time 60 \
    --output "$page" --write-out '%{http_code}')
  if [[ $status != 200 ]]; then
    echo "$status: $(cat "$page")" >&2
    exit 1
  fi
  jq --raw-output '.data[] | ([.payments[] | "\(.paymentMode):\(.paymentAmount)"] | join(";")) as $payments
    | [.id, .openedAt, .total, .isCanceled, .isTransferred, $payments] | map(tostring) | join(",")' \
    "$page" >> "$file.new" || exit 1
  token=$(jq --raw-output '.nextPageToken' "$page")
  if [[ $token == null ]]; then break; fi
  page_token=(--data-urlencode "pageToken=$token")
done
mv "$file.new" "$file" # The file gets its name when it is complete.

# Adds up the totals of sales. The sed command adds thousands separators.
LC_ALL=C awk -F, 'NR > 1 { count++; if ($4 == "false" && $5 == "false") cents += $3 }
  END { printf "%d orders with sales of €%.2f\n", count, cents / 100 }' "$file" |
  sed -e ':next' -e 's/\([0-9]\)\([0-9]\{3\}\)\([,.]\)/\1,\2\3/' -e 't next'
