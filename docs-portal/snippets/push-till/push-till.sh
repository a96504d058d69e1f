# Pushes the till in the file till.json. With --retry, curl repeats the request after the statuses 408, 429, 500, 502,
# 503 and 504, and waits as long as retry-after states.
gzip --stdout till.json |
  curl --fail-with-body --retry 8 --retry-connrefused "$PRAGMA_API_URL/v2/tills/" \
    -H "authorization: Bearer $PRAGMA_API_KEY" \
    -H 'content-type: application/json' \
    -H 'content-encoding: gzip' \
    --data-binary @-
