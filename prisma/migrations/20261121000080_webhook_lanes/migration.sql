-- What is due is looked up endpoint by endpoint, so that a long queue at one of them costs the others nothing.
create index webhook_delivery_lane on webhook_delivery (endpoint_id, due_at) where state = 'pending';
