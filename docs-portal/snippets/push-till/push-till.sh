#!/usr/bin/env bash
# Pushes the till in the file till.json. Usage: PRAGMA_API_KEY=… bash push-till.sh
# Requires curl 7.84 or later.
url="${PRAGMA_URL:-http://127.0.0.1:4000}/v2/tills"
: "${PRAGMA_API_KEY:?Set this variable to your API key.}"
if [[ ! -r till.json ]]; then echo 'The file till.json cannot be read.' >&2; exit 1; fi

for delay in 1 2 4 8 16 32 64 none; do
  response=$(gzip --stdout till.json |
    curl --silent --show-error --max-time 60 "$url" \
      -H "authorization: Bearer $PRAGMA_API_KEY" \
      -H 'content-type: application/json' \
      -H 'content-encoding: gzip' \
      --data-binary @- \
      --write-out '\n%{http_code} %header{retry-after}')
  # The last line contains the status, which is 000 if there is no response, and the header retry-after.
  read -r status retry_after <<< "${response##*$'\n'}"
  case $status in
    201) echo 'The till was created.'; exit ;;
    200) echo 'The till already existed.'; exit ;;
    000 | 408 | 429 | 500 | 502 | 503 | 504) ;;
    *) echo "The till was rejected: $status ${response%$'\n'*}" >&2; exit 1 ;;
  esac
  [[ $retry_after =~ ^[0-9]+$ ]] || retry_after=0
  if [[ $delay == none || $retry_after -gt 60 ]]; then break; fi
  if [[ $retry_after -gt 0 ]]; then delay=$retry_after; fi
  # The random time prevents all devices from retrying at the same moment.
  sleep "$(awk "BEGIN { print $delay * (1 + $RANDOM / 65536) }")"
done
echo "The till was not accepted ($status). Push it again later." >&2
exit 1
