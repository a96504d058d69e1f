-- From how many bytes of each block the V1 orders can be decompressed. Null for tills that version 1.1.0 packs.
alter table packed_tills add column block_v1_ends int[];
