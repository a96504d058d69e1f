# Pushes the till in the file till.json. With --retry, curl repeats the request after
# 408, 429, 500, 502, 503 and 504, and waits as long as the header retry-after states.
gzip --stdout till.json |
  curl --silent --show-error --fail-with-body --retry 8 --retry-connrefused "$PRAGMA_URL/v2/tills/" \
    -H "authorization: Bearer $PRAGMA_API_KEY" \
    -H 'content-type: application/json' \
    -H 'content-encoding: gzip' \
    --data-binary @-
