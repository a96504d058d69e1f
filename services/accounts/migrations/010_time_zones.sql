-- Version 1.1 accepted names of time zones that ICU knows, but that are not IANA names, so that V1 tills of the location
-- could not be processed. Each is replaced with the IANA zone that ICU means by it. ICU computes some `SystemV` zones with
-- dates of summer time from 1986; they are replaced with the zone of the same region.
update locations set settings = jsonb_set(settings, '{timezone}', to_jsonb(name)), updated_at = now()
from (values
  ('act', 'Australia/Darwin'), ('aet', 'Australia/Sydney'), ('agt', 'America/Argentina/Buenos_Aires'),
  ('art', 'Africa/Cairo'), ('ast', 'America/Anchorage'), ('bet', 'America/Sao_Paulo'), ('bst', 'Asia/Dhaka'),
  ('cat', 'Africa/Maputo'), ('cnt', 'America/St_Johns'), ('cst', 'America/Chicago'), ('ctt', 'Asia/Shanghai'),
  ('eat', 'Africa/Nairobi'), ('ect', 'Europe/Paris'), ('iet', 'America/Indiana/Indianapolis'), ('ist', 'Asia/Kolkata'),
  ('jst', 'Asia/Tokyo'), ('mit', 'Pacific/Apia'), ('net', 'Asia/Yerevan'), ('nst', 'Pacific/Auckland'),
  ('plt', 'Asia/Karachi'), ('pnt', 'America/Phoenix'), ('prt', 'America/Puerto_Rico'), ('pst', 'America/Los_Angeles'),
  ('sst', 'Pacific/Guadalcanal'), ('vst', 'Asia/Ho_Chi_Minh'), ('us/pacific-new', 'America/Los_Angeles'),
  ('canada/east-saskatchewan', 'America/Regina'),
  ('systemv/ast4', 'Etc/GMT+4'), ('systemv/est5', 'Etc/GMT+5'), ('systemv/cst6', 'Etc/GMT+6'),
  ('systemv/mst7', 'Etc/GMT+7'), ('systemv/pst8', 'Etc/GMT+8'), ('systemv/yst9', 'Etc/GMT+9'),
  ('systemv/hst10', 'Etc/GMT+10'), ('systemv/ast4adt', 'America/Halifax'), ('systemv/est5edt', 'America/New_York'),
  ('systemv/cst6cdt', 'America/Chicago'), ('systemv/mst7mdt', 'America/Denver'),
  ('systemv/pst8pdt', 'America/Los_Angeles'), ('systemv/yst9ydt', 'America/Anchorage')
) replacement (removed, name)
where lower(settings ->> 'timezone') = removed;
